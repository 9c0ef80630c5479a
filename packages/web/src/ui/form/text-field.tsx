import { TextInput, type TextInputProps } from '@mantine/core'
import type { Ref } from 'react'
import { useValidation } from './use-validation.ts'

/** Its constraints (`required`, `type`, `minLength`) are checked on submit. */
export const TextField = (props: TextInputProps & { ref?: Ref<HTMLInputElement> }) => (
  <TextInput {...props} {...useValidation(props.error)} />
)
