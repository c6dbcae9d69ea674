"""What the templates of dashboards need to print texts and numbers."""
