import { printJson, printRows } from '../output.ts'
import { UsageError } from '../usage.ts'
import { type Api, withApi } from './api.ts'
import { changeOrRequest, type GatedOptions, needsApproval } from './approval.ts'
import { type Flag, findFlag, flagsPath, show } from './flags.ts'

/** `halyard flags enable|disable <key>` */
export const setFlagActive = (key: string, active: boolean, options: GatedOptions): Promise<void> =>
  withApi(options, async api => {
    const { id } = await findFlag(api, options.project, key)
    const flag = await changeOrRequest(options, {
      needsApproval: () => needsApproval(api, options, { active }, id),
      write: () => api('PATCH', `${flagsPath(options.project)}${id}/`, { active }),
    })
    if (flag) show(flag, options)
  })

/** `halyard flags rollout <key> <percent>` */
export const setRollout = (
  key: string,
  percent: number,
  options: GatedOptions & { readonly condition: number },
): Promise<void> =>
  withApi(options, async api => {
    const flag = await findFlag(api, options.project, key)
    const body = { rollout_percentage: percent, condition_index: options.condition - 1 }
    const changed = await edit(api, options, flag, 'set_rollout', body)
    if (changed) show(changed, options)
  })

/** `halyard flags archive|unarchive <key>` */
export const setArchived = (
  key: string,
  isArchived: boolean,
  options: GatedOptions & { readonly force?: string },
): Promise<void> =>
  withApi(options, async api => {
    const { id } = await findFlag(api, options.project, key, !isArchived)
    const path = `${flagsPath(options.project)}${id}/${isArchived ? 'archive' : 'unarchive'}/`
    const body = options.force === undefined ? {} : { force: true, reason: options.force }
    const flag = await changeOrRequest(options, {
      // Only the server knows: archiving is no change of a field that could be tried.
      needsApproval: async () => false,
      write: () => api('POST', path, body),
    })
    if (flag) show(flag, options)
  })

interface Variant {
  readonly key: string
  readonly name?: string | null
  readonly rollout_percentage: number
}

/** `halyard flags variants <key> [<variant>=<percent>…]` */
export const flagVariants = (key: string, split: readonly string[], options: GatedOptions): Promise<void> =>
  withApi(options, async api => {
    const flag = await findFlag(api, options.project, key)
    const changed = split.length === 0 ? flag : await setVariants(api, options, flag, readSplit(split))
    if (!changed) return
    const variants = variantsOf(changed)
    if (options.json) return printJson(variants)
    const payloads = changed.filters.payloads ?? {}
    const rows = variants.map(variant => ({
      variant: variant.key,
      percent: variant.rollout_percentage,
      name: variant.name || null,
      payload: payloads[variant.key] === undefined ? null : JSON.stringify(payloads[variant.key]),
    }))
    printRows(rows, ['variant', 'percent', 'name', 'payload'], {})
  })

/** The percentages of the same variants, or other variants: then the rest of the definition stays as it is. */
function setVariants(
  api: Api,
  options: GatedOptions,
  flag: Flag,
  split: Readonly<Record<string, number>>,
): Promise<Flag | undefined> {
  const present = variantsOf(flag)
  const hasSameKeys =
    present.length > 0 &&
    present
      .map(({ key }) => key)
      .sort()
      .join() === Object.keys(split).sort().join()
  if (hasSameKeys) return edit(api, options, flag, 'set_variant_split', { variants: split })
  const variants = Object.entries(split).map(([key, percent]) => ({
    ...(present.find(variant => variant.key === key) ?? { key, name: '' }),
    rollout_percentage: percent,
  }))
  const patch = { filters: { ...flag.filters, multivariate: { ...flag.filters.multivariate, variants } } }
  return changeOrRequest(options, {
    needsApproval: () => needsApproval(api, options, patch, flag.id),
    write: () => api('PATCH', `${flagsPath(options.project)}${flag.id}/`, { ...patch, version: flag.version }),
  })
}

/** Edits of one thing say themselves whether they need approval. */
function edit(api: Api, options: GatedOptions, { id }: Flag, action: string, body: object): Promise<Flag | undefined> {
  const path = `${flagsPath(options.project)}${id}/${action}/`
  return changeOrRequest(options, {
    needsApproval: async () => (await api('POST', path, { ...body, dry_run: true })).requires_approval === true,
    write: () => api('POST', path, body),
  })
}

const variantsOf = ({ filters }: Flag): readonly Variant[] => filters.multivariate?.variants ?? []

/** `control=50 test=50` */
function readSplit(texts: readonly string[]): Readonly<Record<string, number>> {
  const entries = texts.map(text => {
    const [, key, percent] = /^(.+)=(\d+(?:\.\d+)?)%?$/.exec(text) ?? []
    if (key === undefined) throw new UsageError(`Write variants as <variant>=<percent>, not "${text}".`)
    return [key, Number(percent)] as const
  })
  const total = entries.reduce((sum, [, percent]) => sum + percent, 0)
  if (Math.abs(total - 100) > 0.001) throw new UsageError(`The percentages add up to ${total}, not to 100.`)
  return Object.fromEntries(entries)
}
