"""`manage.py add_judge_template`."""
