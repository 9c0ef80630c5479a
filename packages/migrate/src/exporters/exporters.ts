import type { ExportedProject, ExportFormat, ExportResult } from './exported.ts'
import { exportFlagd } from './flagd.ts'
import { exportManifest } from './openfeature-manifest.ts'
import { exportPostHog } from './posthog.ts'

export const exporters: Readonly<Record<ExportFormat, (project: ExportedProject) => ExportResult>> = {
  flagd: exportFlagd,
  'openfeature-manifest': exportManifest,
  posthog: exportPostHog,
}
