"""`manage.py import_appraise` and `import_pearmut`."""
