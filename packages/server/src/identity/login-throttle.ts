import { noPeers, type Peers } from '../peers.ts'
import { Problem } from '../problem.ts'
import { steadyNow } from '../steady-clock.ts'

const wrongMax = 5
const wrongFromAddressMax = 50
const windowMilliseconds = 5 * 60 * 1000
const entriesMax = 50_000

/** Repeated wrong passwords for one account, or from one address, have to wait. Counted by all processes on this machine together. */
export interface LoginThrottle {
  /**
   * Counts a guess as wrong before it is looked at, so that many at once gain nothing. Answers how to say that it was not: it was right, or
   * nobody could tell. Raises `throttled`.
   */
  guess(email: string, address: string): (outcome: 'right' | 'unknown') => void
}

interface Guess {
  readonly email: string
  readonly address: string
  readonly outcome: 'wrong' | 'right' | 'unknown'
}

export function createLoginThrottle(peers: Peers = noPeers, now: () => number = steadyNow): LoginThrottle {
  const wrong = new Map<string, { count: number; since: number }>()
  const keysOf = ({ email, address }: Omit<Guess, 'outcome'>) =>
    [
      { key: `email ${email.toLowerCase()}`, max: wrongMax },
      { key: `address ${address}`, max: wrongFromAddressMax },
    ] as const

  function check(key: string, max: number): void {
    const entry = wrong.get(key)
    if (!entry || entry.count < max) return
    const left = entry.since + windowMilliseconds - now()
    if (left <= 0) {
      wrong.delete(key)
      return
    }
    const retryAfterSeconds = Math.ceil(left / 1000)
    throw new Problem('throttled', `Too many failed sign-ins. Try again in ${retryAfterSeconds} seconds.`, {
      retryAfterSeconds,
    })
  }

  function count(guess: Guess): void {
    if (wrong.size > entriesMax) wrong.clear()
    for (const { key } of keysOf(guess)) {
      const entry = wrong.get(key)
      if (entry && now() - entry.since < windowMilliseconds) entry.count += 1
      else wrong.set(key, { count: 1, since: now() })
    }
  }

  /** Who knows the password may try again at once; the address keeps what it got wrong with other accounts. */
  function takeBack(guess: Guess): void {
    for (const { key } of keysOf(guess)) {
      const entry = wrong.get(key)
      if (entry) entry.count = Math.max(0, entry.count - 1)
    }
    if (guess.outcome === 'right') wrong.delete(keysOf(guess)[0].key)
  }

  const note = (guess: Guess) => (guess.outcome === 'wrong' ? count : takeBack)(guess)
  peers.onTold('login', word => note(word as Guess))
  const noteEverywhere = (guess: Guess) => {
    note(guess)
    peers.tell('login', guess)
  }

  return {
    guess(email, address) {
      for (const { key, max } of keysOf({ email, address })) check(key, max)
      noteEverywhere({ email, address, outcome: 'wrong' })
      return outcome => noteEverywhere({ email, address, outcome })
    },
  }
}
