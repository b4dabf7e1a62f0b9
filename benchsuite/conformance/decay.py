"""Warnings about weight decay, which fail nothing: a release may decay a temperature, and a method reproduce it."""

from torch.nn.parameter import is_lazy

from benchsuite.conformance.subject import Subject


def decaying_numbers(subject: Subject) -> tuple[str, ...]:
    """A warning for each single number, such as a temperature, whose group states a weight decay."""
    method = subject.template
    names = {id(parameter): name for name, parameter in method.named_parameters()}
    return tuple(
        f"the single number {names.get(id(parameter), 'of a group')} decays towards 0, because its ParameterGroup "
        f"states weight_decay {group.weight_decay:g}; without that it would not decay."
        for group in method.parameter_groups()
        if group.weight_decay
        for parameter in group.parameters
        if not is_lazy(parameter) and parameter.dim() == 0
    )
