export interface TagFailure {
  readonly id: number
  readonly key?: string
  readonly reason: string
}

interface Replaced {
  readonly updated: number
  readonly remaining: number
  readonly errors: readonly TagFailure[]
}

type Request = (body: { tag: string; replacement: string | null }) => Promise<Replaced>

/** The server changes a limited number of flags per request: repeats while it makes progress. */
export async function replaceTagEverywhere(
  request: Request,
  tag: string,
  replacement: string | null,
): Promise<Pick<Replaced, 'updated' | 'errors'>> {
  let updated = 0
  for (;;) {
    const result = await request({ tag, replacement })
    updated += result.updated
    if (result.updated === 0 || result.remaining <= result.errors.length) return { updated, errors: result.errors }
  }
}
