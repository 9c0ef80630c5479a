import { Autocomplete, type AutocompleteProps } from '@mantine/core'
import { useValidation } from './use-validation.ts'

/** A text field with suggestions. Its constraints are checked on submit. */
export const SuggestField = (props: AutocompleteProps) => <Autocomplete {...props} {...useValidation(props.error)} />
