interface Waiting<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * Collects the items of a key that are asked for within one turn of the event loop and handles them together, at most so many at a time.
 * `handle` returns a result for each item, in their order.
 */
export function batchByKey<Key, Item, Result>(
  sizeMax: number,
  handle: (key: Key, items: readonly Item[]) => Promise<readonly Result[]>,
): (key: Key, item: Item) => Promise<Result> {
  const open = new Map<Key, Waiting<Item, Result>[]>()

  async function run(key: Key, batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await handle(
        key,
        batch.map(({ item }) => item),
      )
      for (const [index, { resolve }] of batch.entries()) resolve(results[index]!)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  return (key, item) =>
    new Promise((resolve, reject) => {
      const waiting = { item, resolve, reject }
      const batch = open.get(key)
      if (batch) {
        batch.push(waiting)
        if (batch.length === sizeMax) open.delete(key)
        return
      }
      const started = [waiting]
      open.set(key, started)
      setImmediate(() => {
        if (open.get(key) === started) open.delete(key)
        void run(key, started)
      })
    })
}
