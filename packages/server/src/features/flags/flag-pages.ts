import type { Flag, FlagFilter } from '../../domain/flag.ts'
import { pageBody, readWindow } from '../../http/routes/page-links.ts'
import type { ChangeFeed } from '../../storage/changes/changes.ts'
import { createProjectCache } from '../../storage/changes/invalidated-cache.ts'
import type { Database } from '../../stores.ts'
import { type Actor, adminLevel, type Project } from '../../tenancy.ts'
import { canEditFlag } from '../access/access.ts'
import { grantsFor } from '../access/grants.ts'

const pagesBytesMax = 8 * 1024 * 1024

interface CachedPage {
  readonly projectId: number
  readonly bytes: Buffer
}

interface ListRequest {
  readonly actor: Actor
  readonly project: Project
  readonly query: { readonly limit?: string; readonly offset?: string }
  readonly url: URL
}

/** Makes the bodies of pages of flags. What every admin of a project sees alike is cached. */
export function createFlagPages(
  { database, changes }: { readonly database: Database; readonly changes: ChangeFeed },
  toWire: (flag: Flag, canEdit: boolean) => unknown,
) {
  const pages = createProjectCache<CachedPage>({
    changes,
    isConcerned: ({ topic }) => topic === 'flag' || topic === 'project' || topic === 'identity',
    projectOf: page => page.projectId,
    sizeOf: page => page.bytes.length,
    sizeMax: pagesBytesMax,
  })

  return async ({ actor, project, query, url }: ListRequest, filter: FlagFilter) => {
    const make = async (): Promise<CachedPage> => {
      const body = await database.read(async tx => {
        const window = readWindow(query)
        const page = await tx.flags.list(project.id, filter, window)
        const grants = await grantsFor(tx, actor, project)
        return pageBody(page, window, url, flag => toWire(flag, canEditFlag(grants, flag)))
      })
      return { projectId: project.id, bytes: Buffer.from(JSON.stringify(body)) }
    }
    const isLasting = isAdmin(actor, project) && isInChangeFeed(filter)
    const page = await (isLasting ? pages.get(`${project.id} ${url.href}`, make) : make())
    return page?.bytes
  }
}

/** Admins can edit every flag. What other members can edit depends on their roles, which are not in the change feed. */
const isAdmin = (actor: Actor, { organizationId }: Project): boolean =>
  (actor.levels.get(organizationId) ?? 0) >= adminLevel

/** Neither favorites nor use, which decides staleness and the order by last call, are in the change feed. */
const isInChangeFeed = ({ favoriteOf, staleSince, order }: FlagFilter): boolean =>
  favoriteOf === undefined && staleSince === undefined && order?.field !== 'last_called_at'
