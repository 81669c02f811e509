def read(text):
    return "a " + text
