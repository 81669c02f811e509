def read() -> None:
    """X"""
