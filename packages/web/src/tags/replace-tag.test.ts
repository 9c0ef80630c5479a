import { expect, it } from 'vitest'
import { replaceTagEverywhere } from './replace-tag.ts'

it('repeats while flags are left that can be changed', async () => {
  const answers = [
    { updated: 500, remaining: 300, errors: [] },
    { updated: 298, remaining: 2, errors: [1, 2].map(id => ({ id, reason: 'locked' })) },
  ]
  const outcome = await replaceTagEverywhere(async () => answers.shift()!, 'a', 'b')
  expect(outcome).toMatchObject({ updated: 798, errors: [{ id: 1 }, { id: 2 }] })
  expect(answers).toEqual([])
})

it('stops when nothing can be changed', async () => {
  const errors = [{ id: 1, reason: 'locked' }]
  expect(await replaceTagEverywhere(async () => ({ updated: 0, remaining: 900, errors }), 'a', null)).toEqual({
    updated: 0,
    errors,
  })
})
