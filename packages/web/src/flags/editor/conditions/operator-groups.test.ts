import { operators, strictOperators } from '@halyard/engine'
import { expect, it } from 'vitest'
import { operatorGroups } from './operator-groups.ts'

it('every operator is in one group, and the usual twelve come first', () => {
  const grouped = Object.values(operatorGroups).flat()
  expect(grouped.toSorted()).toEqual([...operators, ...strictOperators].toSorted())
  expect(Object.keys(operatorGroups)[0]).toBe('usual')
  expect(operatorGroups.usual).toHaveLength(12)
})
