"""Kinds of trouble that operators meet, made for real, each with pictures: what is wrong, and what would one click?"""
