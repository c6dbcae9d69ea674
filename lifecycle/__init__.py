"""Resources of every type are renamed, copied, archived and deleted in one way."""
