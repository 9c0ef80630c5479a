import {
  type ExportedFlag,
  type ExportedProject,
  type ExportNotes,
  type ExportResult,
  exportEach,
  variantValues,
} from './exported.ts'

/** Keys, types and defaults, from which the OpenFeature CLI generates typed clients. Says nothing about who gets what. */
export function exportManifest({ flags }: ExportedProject): ExportResult {
  const { written, items } = exportEach(flags, (flag, notes) => ({
    ...typeOf(flag, notes),
    ...(flag.name !== '' && { description: flag.name }),
  }))
  return {
    document: {
      $schema: 'https://raw.githubusercontent.com/open-feature/cli/refs/heads/main/schema/v0/flag-manifest.json',
      flags: Object.fromEntries(written.map(({ flag, result }) => [flag.key, result])),
    },
    items,
  }
}

function typeOf(flag: ExportedFlag, notes: ExportNotes): { flagType: string; defaultValue: unknown } {
  const values = [...variantValues(flag).values()]
  if (values.length === 0) return { flagType: 'boolean', defaultValue: false }
  const types = new Set(values.map(typeName))
  if (types.size === 2 && types.has('integer') && types.has('float')) types.delete('integer')
  const [flagType, ...others] = types
  if (others.length > 0 || flagType === undefined) return notes.refuse('The variants have values of different types.')
  return { flagType, defaultValue: values[0] }
}

function typeName(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'float'
  return typeof value === 'string' || typeof value === 'boolean' ? typeof value : 'object'
}
