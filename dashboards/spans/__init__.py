"""The page on error spans: what metrics find of what people marked."""
