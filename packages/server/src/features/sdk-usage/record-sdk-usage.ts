import type { Instant } from '../../instant.ts'
import type { Database } from '../../stores.ts'
import type { SdkCall } from './sdk-calls.ts'

export const sdksPerProjectMax = 100
export const sdkUsageDaysMax = 90

/** Writes counted calls. The first call of an SDK is announced, so that open dashboards show it at once. */
export async function recordSdkUsage(database: Database, calls: readonly SdkCall[], now: Instant): Promise<void> {
  const byProject = new Map<number, SdkCall[]>()
  for (const call of calls) byProject.set(call.projectId, [...(byProject.get(call.projectId) ?? []), call])
  for (const [projectId, called] of [...byProject].sort(([a], [b]) => a - b)) {
    await database.transaction(async tx => {
      const project = await tx.projects.find(projectId)
      if (!project) return
      const recordedKeys = new Set((await tx.sdkUsage.list(projectId)).map(sdkKey))
      const fresh = called
        .filter(each => !recordedKeys.has(sdkKey(each)))
        .slice(0, Math.max(0, sdksPerProjectMax - recordedKeys.size))
      await tx.sdkUsage.add(projectId, [...called.filter(each => recordedKeys.has(sdkKey(each))), ...fresh], now)
      if (fresh.length === 0) return
      const { organizationId } = project
      await tx.changes.append({ topic: 'sdk', organizationId, projectId, entityId: String(projectId), at: now })
    })
  }
}

const sdkKey = ({ library, version }: { library: string; version: string }): string => `${library} ${version}`
