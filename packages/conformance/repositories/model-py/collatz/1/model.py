"""Steps of each value to 1, one per turn: halved when even, else three times as much and one. Only the last turn of a request is answered."""

import torch


class Collatz(torch.nn.Module):
    def forward(self, given, start, ready, correlation, value, steps, *, requests):
        if ready.sum() != len(requests):
            raise ValueError(f"{int(ready.sum())} rows are ready, {len(requests)} requests are told of")
        for request in requests:
            if int(correlation[request.rows].to(torch.float64)) != float(request.correlation_id):
                raise ValueError(f"{correlation[request.rows]} is not {request.correlation_id}")
        value = torch.where(start > 0, given, value)
        if (value[ready > 0] < 0).any():
            raise ValueError("a negative value never comes to 1")
        left = value != 1
        value = torch.where(left, torch.where(value % 2 == 0, value // 2, 3 * value + 1), value)
        for request in requests:
            if value[request.rows] != 1:
                request.reschedule()
        return steps + left, value
