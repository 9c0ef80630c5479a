import { expect, it } from 'vitest'
import { peerGroup } from '../testing/peer-group.ts'
import { createLoginThrottle } from './login-throttle.ts'

const minute = 60_000

function throttlesOf(processes: number) {
  let time = 0
  const throttles = peerGroup(processes).map(peers => createLoginThrottle(peers, () => time))
  const isLet = (process: number, email: string, address = 'here') => {
    try {
      throttles[process]!.guess(email, address)
      return true
    } catch {
      return false
    }
  }
  return {
    throttles,
    isLet,
    pass: (milliseconds: number) => {
      time += milliseconds
    },
  }
}

it('wrong passwords are counted by all processes together, and for five minutes', () => {
  const { isLet, pass } = throttlesOf(3)
  const let10 = Array.from({ length: 10 }, (_, n) => isLet(n % 3, 'Ann@example.com', `address ${n}`))
  expect(let10.filter(Boolean)).toHaveLength(5)
  expect(isLet(2, 'bob@example.com')).toBe(true)
  pass(5 * minute)
  expect(isLet(1, 'ann@example.com')).toBe(true)
})

it('an address is stopped after fifty, whatever the accounts', () => {
  const { isLet } = throttlesOf(2)
  const guesses = Array.from({ length: 60 }, (_, n) => isLet(n % 2, `${n}@example.com`))
  expect(guesses.filter(Boolean)).toHaveLength(50)
})

it('who was right starts anew everywhere, and what nobody could tell counts for nothing', () => {
  const { throttles, isLet } = throttlesOf(2)
  for (let n = 0; n < 4; n += 1) isLet(0, 'ann@example.com')
  throttles[1]!.guess('ann@example.com', 'here')('right')
  for (let n = 0; n < 20; n += 1) throttles[n % 2]!.guess('ann@example.com', 'here')('unknown')
  const again = Array.from({ length: 6 }, (_, n) => isLet(n % 2, 'ann@example.com'))
  expect(again).toEqual([true, true, true, true, true, false])
})
