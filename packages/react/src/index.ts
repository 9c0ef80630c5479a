'use client'

export { HalyardFlags, type HalyardFlagsProps } from './halyard-flags.ts'
export {
  type FlagDefault,
  type FlagKey,
  type FlagResult,
  type Register,
  useFlag,
  useFlagDetails,
  useSuspenseFlag,
} from './typed-hooks.ts'
