import { isProblem } from '../../api/problem.ts'

/** A compile error's position. Lines and columns start at 1. */
export interface CompileError {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly message: string
}

/** Parses a position such as `index.ts:3:7: Expected ";".`; undefined for a problem without one. */
export function readCompileError(error: unknown, files: readonly string[]): CompileError | undefined {
  if (!isProblem(error) || error.field === null || !files.includes(error.field)) return undefined
  const file = error.field
  const rest = error.message.startsWith(`${file}:`) ? error.message.slice(file.length + 1) : ''
  const [, line, column, message] = /^(\d+):(\d+): (.*)$/s.exec(rest) ?? []
  if (line === undefined || column === undefined || message === undefined) {
    return { file, line: 1, column: 1, message: error.message }
  }
  return { file, line: Number(line), column: Number(column), message }
}
