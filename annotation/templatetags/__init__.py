"""What templates of all apps need to print times, numbers and the head of annotators' pages."""
