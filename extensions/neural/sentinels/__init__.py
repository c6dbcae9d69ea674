"""Sentinels trained here: scores predicted from the source, the output or lengths only."""
