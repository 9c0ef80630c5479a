import { ImportFileError } from '../model/model.ts'

/** Reads values out of documents that anyone may have written. */

export type JsonRecord = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function requireRecord(value: unknown, path: string, what: string): JsonRecord {
  if (!isRecord(value)) throw new ImportFileError(`${what} must be an object.`, path)
  return value
}

/** Absent counts as empty. */
export function requireList(value: unknown, path: string, what: string): readonly unknown[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw new ImportFileError(`${what} must be an array.`, path)
  return value
}

export function requireText(value: unknown, path: string, what: string): string {
  if (typeof value !== 'string' || value === '') throw new ImportFileError(`${what} must be a text.`, path)
  return value
}

export const textOr = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise)

export const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter(item => typeof item === 'string') : []

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const positionPattern = /position (\d+)/

/** Parses JSON; the error names line and column. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.startsWith('\u{feff}') ? text.slice(1) : text)
  } catch (error) {
    const match = positionPattern.exec((error as Error).message)
    const before = match ? text.slice(0, Number(match[1])) : text
    const lines = before.split('\n')
    throw new ImportFileError('The file is not valid JSON.', `line ${lines.length}, column ${lines.at(-1)!.length + 1}`)
  }
}
