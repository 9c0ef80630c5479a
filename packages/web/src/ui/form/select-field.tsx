import { NativeSelect, type NativeSelectProps } from '@mantine/core'
import { useValidation } from './use-validation.ts'

/** Its constraints (`required`, `type`, `minLength`) are checked on submit. */
export const SelectField = (props: NativeSelectProps) => <NativeSelect {...props} {...useValidation(props.error)} />
