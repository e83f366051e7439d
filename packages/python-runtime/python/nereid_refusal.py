class Refusal(Exception):
    """Something that is wrong with the model, its results or the configuration; the message is a whole sentence for the user."""

    def __init__(self, reason, message):
        super().__init__(message)
        self.reason = reason
