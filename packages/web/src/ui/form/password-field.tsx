import { PasswordInput, type PasswordInputProps } from '@mantine/core'
import { useValidation } from './use-validation.ts'

/** Its constraints (`required`, `type`, `minLength`) are checked on submit. */
export const PasswordField = (props: PasswordInputProps) => <PasswordInput {...props} {...useValidation(props.error)} />
