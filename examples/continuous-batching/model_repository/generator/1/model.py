"""A generator of tokens: each call of forward is one more token for every request that runs."""

import torch

VOCABULARY = 100
WIDTH = 32
END = 0


class Generator(torch.nn.Module):
    def __init__(self):
        super().__init__()
        # In place of trained weights, which would lie beside this file as model.pt.
        torch.manual_seed(7)
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.cell = torch.nn.GRUCell(WIDTH, WIDTH)
        self.head = torch.nn.Linear(WIDTH, VOCABULARY)
        for weights in self.parameters():
            torch.nn.init.normal_(weights)
        self.double()

    def forward(self, prompt, start, last, hidden, left, *, requests):
        for request in requests:
            # The first turn of a request: its states are zeros.
            if start[request.rows]:
                last[request.rows] = prompt[request.rows]
                left[request.rows] = request.parameters.get("max_tokens", 16)
        hidden = self.cell(self.embedding(last.squeeze(1)), hidden)
        token = self.head(hidden).argmax(1, keepdim=True)
        left = left - 1
        for request in requests:
            if left[request.rows] > 0 and token[request.rows] != END:
                request.reschedule()
        # The output, which is the state `last` of the next turn, and the other states.
        return token, hidden, left
