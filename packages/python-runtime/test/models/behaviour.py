"""Does what the first value of its input says, so that one process serves many tests."""

import sys

import torch

calls = 0


def fail_below():
    raise ValueError("the cat sat on the keyboard")


class Behaviour(torch.nn.Module):
    def forward(self, x):
        global calls
        calls += 1
        match int(x.reshape(-1)[0]):
            case 0:
                return x
            case 1:
                fail_below()
            case 4:
                print("a line from forward")
                return x
            case 5:
                return x, x + 1
            case 6:
                return ()
            case 7:
                return {"other": x}
            case 8:
                return {"y": x + 1, "more": x}
            case 9:
                return "text"
            case 10:
                return x.to(torch.complex64)
            case 11:
                return x.to(torch.int32)
            case 12:
                return torch.tensor(1.0)
            case 13:
                return torch.cat([x, x])
            case 14:
                import numpy

                return numpy.ascontiguousarray(x.numpy() * 2)
            case 15:
                return x.t().contiguous().t()
            case 16:
                return x.new_tensor([[torch.get_num_threads(), torch.get_num_interop_threads()]])
            case 17:
                sys.exit(3)
            case 18:
                return x.new_tensor([[torch.is_inference_mode_enabled(), calls > 0]])
            case 19:
                return x.to_sparse()
            case 21:
                return x.expand(x.shape[0], 1 << 22)
            case code:
                raise NotImplementedError(code)
