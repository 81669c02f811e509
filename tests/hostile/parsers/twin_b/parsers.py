def read(text):
    return "b " + text
