"""A small HSTU-style sequence encoder: from what a user watched, in order, to a vector that points at what comes next."""
import torch
from torch.nn import functional as F


class HstuLayer(torch.nn.Module):
    """Pointwise aggregated attention: SiLU instead of softmax, so that a layer sees how much of an interest there is and not only its share, gated by u."""

    def __init__(self, width: int, heads: int, max_length: int):
        super().__init__()
        self.heads, self.max_length = heads, max_length
        self.input_norm = torch.nn.LayerNorm(width)
        self.project = torch.nn.Linear(width, 4 * width)
        self.bias_by_distance = torch.nn.Parameter(torch.zeros(heads, max_length))
        self.attended_norm = torch.nn.LayerNorm(width)
        self.output = torch.nn.Linear(width, width)

    def forward(self, x, visible):
        """x [batch, length, width]; visible [batch, 1, length, length]: what each place may look at."""
        u, v, q, k = F.silu(self.project(self.input_norm(x))).chunk(4, dim=-1)
        v, q, k = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (v, q, k))
        place = torch.arange(x.shape[1])
        distance = (place[:, None] - place[None, :]).clamp(min=0)
        weights = F.silu(q @ k.transpose(-1, -2) + self.bias_by_distance[:, distance]) / self.max_length
        attended = (weights.masked_fill(~visible, 0.0) @ v).transpose(1, 2).flatten(-2)
        return x + self.output(self.attended_norm(attended) * u)


class Encoder(torch.nn.Module):
    """Works on embedded items: where they come from is not its business."""

    def __init__(self, width: int, max_length: int, heads: int = 2, layers: int = 2):
        super().__init__()
        self.layers = torch.nn.ModuleList(HstuLayer(width, heads, max_length) for _ in range(layers))
        self.next = torch.nn.Linear(width, width)

    def forward(self, rows, known):
        """rows FP32 [batch, length, width], known BOOL [batch, length]; one vector for each place, [batch, length, width]."""
        length = rows.shape[1]
        past = torch.ones(length, length, dtype=torch.bool).tril()
        visible = past & known[:, None, None, :]
        for layer in self.layers:
            rows = layer(rows, visible)
        return self.next(rows)


class Trained(torch.nn.Module):
    """The encoder with its embeddings inside: what is trained, and what the served model must agree with."""

    def __init__(self, items: int, width: int, max_length: int):
        super().__init__()
        self.encoder = Encoder(width, max_length)
        self.embeddings = torch.nn.Embedding(items + 1, width, padding_idx=0)
        torch.nn.init.normal_(self.embeddings.weight[1:], std=0.3)

    def forward(self, items):
        """items INT64 [batch, length], 0 for none; scores of every item as the next one, for each place, [batch, length, items + 1]."""
        return self.encoder(self.embeddings(items), items > 0) @ self.embeddings.weight.T

    @torch.no_grad()
    def top(self, items, count):
        """Scores and ids of the best unseen items after a history, each [batch, count]."""
        scores = self.forward(items)[:, -1].scatter(1, items, -torch.inf)
        scores[:, 0] = -torch.inf
        return scores.topk(count)


class Served(torch.nn.Module):
    """The same with the embeddings outside: operators of item_tables.cc look rows up and score the items."""

    def __init__(self, encoder: Encoder, table: str, width: int, count: int):
        super().__init__()
        self.encoder, self.table, self.width, self.count = encoder, table, width, count

    def forward(self, items):
        """items INT64 [batch, length]; scores FP32 and ids INT64 of the best unseen items, each [batch, count]."""
        rows, known = torch.ops.item_tables.lookup(items, self.table, self.width)
        last = (torch.arange(items.shape[1]) * known).amax(dim=1)
        queries = self.encoder(rows, known).gather(1, last[:, None, None].expand(-1, 1, self.width)).squeeze(1)
        return torch.ops.item_tables.top(queries, items, self.table, self.count)
