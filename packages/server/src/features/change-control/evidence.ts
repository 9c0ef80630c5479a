import type { Impact } from '../../domain/policy.ts'
import { Problem } from '../../problem.ts'
import { type FlagGuard, type FlagSave, fingerprintOf } from '../flags/flag-guard.ts'

/** How often a flag may change between its check and its save. */
const roundsMax = 3

/**
 * What decides about a change but takes too long for a transaction: plugins that check it and the number of people it affects. A
 * transaction notes what is missing; that is gathered before it runs again.
 */
export class Evidence {
  readonly #guard: FlagGuard
  readonly #measure: (save: FlagSave) => Promise<Impact | undefined>
  readonly #checked = new Set<string>()
  readonly #measured = new Map<string, Impact | undefined>()
  #unchecked: FlagSave[] = []
  #unmeasured: FlagSave[] = []
  #checks = 0
  #measures = 0

  constructor(guard: FlagGuard, measure: (save: FlagSave) => Promise<Impact | undefined>) {
    this.#guard = guard
    this.#measure = measure
  }

  /** A transaction starts, or starts again. */
  begin(): void {
    this.#unchecked = []
    this.#unmeasured = []
  }

  /** Plugins check the flag before it is saved. */
  check(save: FlagSave): void {
    if (this.#guard.isActive(save.projectId) && !this.#checked.has(fingerprintOf(save))) this.#unchecked.push(save)
  }

  /** How many people the change affects. One that is not measured yet counts as too many. */
  impactOf(save: FlagSave): Impact | undefined {
    const fingerprint = fingerprintOf(save)
    if (!this.#measured.has(fingerprint)) this.#unmeasured.push(save)
    return this.#measured.get(fingerprint)
  }

  get isComplete(): boolean {
    return this.#unchecked.length + this.#unmeasured.length === 0
  }

  /** What was decided before people were counted does not hold. */
  get isMeasured(): boolean {
    return this.#unmeasured.length === 0
  }

  /** Raises `invalid` with the objection of a plugin, and `conflict` when the flag keeps changing meanwhile. */
  async gather(): Promise<void> {
    if (this.#unmeasured.length > 0) {
      if (this.#measures++ === roundsMax) throw keepsChanging()
      for (const save of this.#unmeasured) this.#measured.set(fingerprintOf(save), await this.#measure(save))
      return
    }
    if (this.#checks++ === roundsMax) throw keepsChanging()
    for (const save of this.#unchecked) {
      await this.#guard.check(save)
      this.#checked.add(fingerprintOf(save))
    }
  }
}

const keepsChanging = (): Problem =>
  new Problem('conflict', 'The flag kept changing while plugins checked it; nothing was changed. Try again.')

/** For jobs, which were checked when they were planned. */
export const noEvidence = (): Evidence =>
  new Evidence({ isActive: () => false, check: async () => {} }, async () => undefined)
