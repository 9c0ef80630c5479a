import { parseArgs } from 'node:util'

/** The words of a command are off; the message says how they should be. */
export class UsageError extends Error {}

/** Reads `--name value` options, all text, and `--switch` ones that are there or not. Raises UsageError. */
export function readOptions<const Names extends readonly string[], const Switches extends readonly string[] = []>(
  args: string[],
  names: Names,
  switches?: Switches,
): {
  values: Partial<Record<Names[number], string> & Record<Switches[number], true>>
  positionals: string[]
} {
  try {
    const options = Object.fromEntries([
      ...names.map(name => [name, { type: 'string' as const }] as const),
      ...(switches ?? []).map(name => [name, { type: 'boolean' as const }] as const),
    ])
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    return { values: values as never, positionals }
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

export function required(value: string | undefined, name: string): string {
  if (value === undefined || value === '') throw new UsageError(`${name} is missing. See: halyard help`)
  return value
}
