import { expect, it } from 'vitest'
import { en } from '../../../i18n/en.ts'
import { importedSettings } from './imported-settings.ts'

it('says what the editor cannot change', () => {
  const bucketing = { algorithm: 'unleash', seed: 'group' }
  const variants = [
    { variant: 'a', weight: 30 },
    { value: false, weight: 70 },
  ]
  expect(importedSettings({ value: false, split: { bucketing, variants }, bucketing }, en)).toEqual([
    'The flag is off for everyone who matches.',
    'Split between a 30, off 70.',
    'The split uses the buckets of unleash (seed group).',
    'Buckets are those of unleash (seed group).',
  ])
  expect(importedSettings({ value: true, split: null }, en)).toEqual([])
})
