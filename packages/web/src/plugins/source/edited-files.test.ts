import { expect, it } from 'vitest'
import { changesOf, fileNameError, renamed, stateOf, without } from './edited-files.ts'

const stored = { 'a.ts': '1', 'b.ts': '2' }

it('sends changed files, and null for removed ones', () => {
  expect(changesOf(stored, stored)).toEqual({})
  expect(changesOf(stored, { 'a.ts': '3', 'c.ts': '' })).toEqual({ 'a.ts': '3', 'b.ts': null, 'c.ts': '' })
  expect(changesOf(stored, renamed(stored, 'b.ts', 'z.ts'))).toEqual({ 'b.ts': null, 'z.ts': '2' })
  expect(without(stored, 'a.ts')).toEqual({ 'b.ts': '2' })
})

it('distinguishes changed, unchanged and added files', () => {
  const edited = { 'a.ts': '3', 'b.ts': '2', 'c.ts': '' }
  expect(Object.keys(edited).map(name => stateOf(name, stored, edited))).toEqual(['changed', 'same', 'added'])
})

it.each([
  ['lib/c.ts', undefined],
  ['c.test.js', undefined],
  ['a.ts', 'taken'],
  ['c', 'shape'],
  ['', 'shape'],
  ['../c.ts', 'shape'],
  ['/c.ts', 'shape'],
  ['c d.ts', 'shape'],
])('rejects the file name %j: %s', (name, error) => expect(fileNameError(name, stored)).toBe(error))
