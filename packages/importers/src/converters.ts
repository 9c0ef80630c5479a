import type { Converter, ImportSource } from './model.ts'

/** One line for each service. */
export const convertersBySource: Readonly<Partial<Record<ImportSource, Converter>>> = {}
