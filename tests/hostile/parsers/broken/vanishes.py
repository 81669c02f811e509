import os

os.write(2, b"last words")
os._exit(7)
