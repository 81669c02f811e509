value = 3


def parse_amount(text):
    return text
