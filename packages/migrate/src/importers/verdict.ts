import type { ImportItem, ImportReason } from '../model/model.ts'

/** Collects what is to be said about one item while it is converted. */
export interface Verdict {
  /** The item is imported and behaves differently. */
  differs(message: string, path: string): void
  /** The value is the same for everyone, and there is something to know about it. */
  note(message: string, path: string): void
  /** The item cannot be imported; ends its conversion. */
  refuse(message: string, path: string): never
}

class Refusal extends Error {
  readonly reason: ImportReason

  constructor(reason: ImportReason) {
    super(reason.message)
    this.name = 'Refusal'
    this.reason = reason
  }
}

export interface Judged<T> {
  readonly item: ImportItem
  /** Undefined when refused. */
  readonly result: T | undefined
}

/** Converts one item, so that a refusal concerns no other. */
export function judge<T>(
  { kind, sourceKey, sourceId }: Pick<ImportItem, 'kind' | 'sourceKey' | 'sourceId'>,
  convert: (verdict: Verdict) => T,
): Judged<T> {
  const reasons: ImportReason[] = []
  let isExact = true
  const note = (message: string, path: string): void => {
    if (!reasons.some(reason => reason.message === message)) reasons.push({ message, path })
  }
  const verdict: Verdict = {
    note,
    differs(message, path) {
      isExact = false
      note(message, path)
    },
    refuse(message, path) {
      throw new Refusal({ message, path })
    },
  }
  const item = (status: ImportItem['status']): ImportItem => ({ kind, sourceKey, sourceId, status, reasons })
  try {
    const result = convert(verdict)
    return { item: item(isExact ? 'exact' : 'approximate'), result }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    reasons.push(error.reason)
    return { item: item('refused'), result: undefined }
  }
}
