import { expect, it } from 'vitest'
import { readIds } from './read-ids.ts'

it('reads ids from a CSV file', () => {
  expect(readIds('distinct_id,name\r\n"ada",x\r\nbob;y\n\n')).toEqual(['ada', 'bob'])
  expect(readIds('ada\nbob')).toEqual(['ada', 'bob'])
})
