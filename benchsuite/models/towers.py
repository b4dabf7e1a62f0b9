"""The two towers by name."""

from torch import Tensor, nn

from benchsuite.errors import UsageError
from benchsuite.models.tokenizer import PAD, Tokens
from benchsuite.models.torchvision_ops import make_importable
from benchsuite.setup import ImageTower, TextTower


class ImageEncoder(nn.Module):
    """A timm model without its classifier: [n, 3, H, W] to [n, width]."""

    def __init__(self, tower: ImageTower) -> None:
        super().__init__()
        make_importable()
        import timm

        options = {k: tuple(v) if isinstance(v, list) else v for k, v in tower.options.items()}
        try:
            self.body = timm.create_model(tower.timm, pretrained=tower.pretrained, num_classes=0, **options)
        except (RuntimeError, TypeError, AssertionError) as error:
            raise UsageError(f'image tower "{tower.timm}" with {options}: {error}') from error
        self.width = int(self.body.num_features)

    def forward(self, pixels: Tensor) -> Tensor:
        out: Tensor = self.body(pixels)
        return out


class TextEncoder(nn.Module):
    """A transformers encoder, pooled over its tokens: ids and mask [n, L] to [n, width]."""

    def __init__(self, tower: TextTower, vocabulary: int) -> None:
        super().__init__()
        from transformers import AutoConfig, AutoModel

        try:
            if tower.pretrained:
                self.body = AutoModel.from_pretrained(tower.transformer, **tower.config)
            else:
                config = AutoConfig.for_model(
                    tower.transformer, vocab_size=vocabulary, pad_token_id=PAD, **tower.config
                )
                self.body = AutoModel.from_config(config)
        except (OSError, ValueError) as error:
            raise UsageError(f'text tower "{tower.transformer}": {error}') from error
        self.width = int(self.body.config.hidden_size)
        self.pool = tower.pool

    def forward(self, tokens: Tokens) -> Tensor:
        states: Tensor = self.body(input_ids=tokens.ids, attention_mask=tokens.mask).last_hidden_state
        if self.pool == "first":
            return states[:, 0]
        mask = tokens.mask.unsqueeze(-1).to(states.dtype)
        return (states * mask).sum(1) / mask.sum(1)
