import { expect, it } from 'vitest'
import { createProjectMarks } from './project-marks.ts'

it('are those of one project, for a second', () => {
  let now = 0
  const marks = createProjectMarks(() => now)
  marks.add(1)
  expect([marks.has(1), marks.has(2)]).toEqual([true, false])
  now = 999
  expect(marks.has(1)).toBe(true)
  now = 1000
  expect(marks.has(1)).toBe(false)
})
