import { NumberInput, type NumberInputProps } from '@mantine/core'
import { useValidation } from './use-validation.ts'

/** Its constraints (`required`, `type`, `minLength`) are checked on submit. */
export const NumberField = (props: NumberInputProps) => <NumberInput {...props} {...useValidation(props.error)} />
