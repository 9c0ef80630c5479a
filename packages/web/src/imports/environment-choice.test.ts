import { expect, it } from 'vitest'
import { bodyOf, defaultChoice, intoSet, isComplete } from './environment-choice.ts'

const environmentNames = ['Development', 'live']
const set = { id: 3, environments: [{ name: 'development' }, { name: 'production' }] }

it('starts with this project, or with the set that it is part of', () => {
  expect(bodyOf(defaultChoice(environmentNames, undefined), 7)).toEqual({
    mapping: [{ project: 7, environment: 'Development' }],
  })
  const choice = defaultChoice(environmentNames, set)
  expect(bodyOf(choice, 7)).toEqual({
    environment_set: 3,
    mapping: [{ name: 'development', environment: 'Development' }],
  })
  const mapped = { ...choice, bySetEnvironment: { development: 'live', production: '' } }
  expect(bodyOf(mapped, 7)).toMatchObject({ mapping: [{ name: 'development', environment: 'live' }] })
})

it('is complete once something goes somewhere', () => {
  expect(isComplete(undefined)).toBe(false)
  const none = intoSet(environmentNames, { id: 4, environments: [{ name: 'qa' }] })
  expect(isComplete({ ...defaultChoice(environmentNames, set), ...none })).toBe(false)
  const created = { ...defaultChoice(environmentNames, undefined), into: 'new' as const }
  expect(isComplete(created)).toBe(false)
  const named = { ...created, setName: ' Shop ', isIncluded: { live: true } }
  expect(isComplete(named)).toBe(true)
  expect(bodyOf(named, 7)).toEqual({
    new_environment_set: 'Shop',
    mapping: [{ name: 'live', environment: 'live' }],
  })
})
