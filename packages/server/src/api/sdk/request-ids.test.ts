import { expect, it } from 'vitest'
import { createRequestIds } from './request-ids.ts'

it('makes UUIDs of version 4, each another one', () => {
  const nextId = createRequestIds()
  const ids = Array.from({ length: 1000 }, () => nextId().toString('latin1'))
  expect(new Set(ids).size).toBe(ids.length)
  const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
  expect(ids.filter(id => !pattern.test(id))).toEqual([])
})
