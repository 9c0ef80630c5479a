import { expect, it } from 'vitest'
import { ApiProblem } from '../../api/problem.ts'
import { readCompileError } from './compile-error.ts'

const files = ['index.ts', 'lib/a.ts', 'plugin.json']
const problem = (attr: string | null, detail: string) => new ApiProblem(400, { attr, detail, code: 'x', type: 'x' })

it.each([
  [problem('index.ts', 'index.ts:3:7: Expected ";" but found "x".'), ['index.ts', 3, 7, 'Expected ";" but found "x".']],
  [problem('lib/a.ts', 'lib/a.ts:12:1: Two\nlines: here.'), ['lib/a.ts', 12, 1, 'Two\nlines: here.']],
  [problem('plugin.json', 'plugin.json is invalid: no.'), ['plugin.json', 1, 1, 'plugin.json is invalid: no.']],
])('%s has a position', (error, [file, line, column, message]) => {
  expect(readCompileError(error, files)).toEqual({ file, line, column, message })
})

it.each([
  problem(null, 'The plugin does not load: Error: x'),
  problem('name', 'May not be blank.'),
  new Error('x'),
  null,
])('%s has no position', error => expect(readCompileError(error, files)).toBeUndefined())
