/** How many guesses are looked at at once, for an account and from an address; the others wait for their turn. */
export interface SignInPlaces {
  /** Resolves when there is a place under every key, with how to leave it. */
  take(keys: readonly { readonly key: string; readonly max: number }[]): Promise<() => void>
  /** So many may be looked at at once from now on, but always one. */
  allow(key: string, places: number): void
}

interface Place {
  places: number
  taken: number
  readonly waiting: (() => void)[]
}

export function createSignInPlaces(): SignInPlaces {
  const known = new Map<string, Place>()

  async function takeOne(key: string, max: number): Promise<void> {
    const place = known.get(key) ?? { places: max, taken: 0, waiting: [] }
    known.set(key, place)
    if (place.taken < place.places) place.taken += 1
    else await new Promise<void>(resolve => place.waiting.push(resolve))
  }

  /** A place that is left is somebody's at once who waits for it, unless there are fewer now. */
  function hand(key: string, place: Place): void {
    while (place.taken < place.places && place.waiting.length > 0) {
      place.taken += 1
      place.waiting.shift()?.()
    }
    if (place.taken === 0 && place.waiting.length === 0) known.delete(key)
  }

  function leaveOne(key: string): void {
    const place = known.get(key)
    if (!place) return
    place.taken -= 1
    hand(key, place)
  }

  return {
    async take(keys) {
      for (const { key, max } of keys) await takeOne(key, max)
      return () => {
        for (const { key } of keys) leaveOne(key)
      }
    },
    allow(key, places) {
      const place = known.get(key)
      if (place) place.places = Math.max(1, places)
    },
  }
}
