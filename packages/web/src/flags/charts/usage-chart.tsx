import { useComputedColorScheme } from '@mantine/core'
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import { useLanguage } from '../../i18n/language.tsx'
import { variantColor } from '../editor/variants/variant-colors.ts'
import 'uplot/dist/uPlot.min.css'

const heightPixels = 220

interface Props {
  /** Days, or instants when `isHourly`. */
  days: readonly string[]
  isHourly?: boolean
  series: readonly { readonly label: string; readonly color?: string; readonly data: readonly number[] }[]
  /** The last day is not over: it is shaded. */
  isLastPartial?: boolean
  /** Times that are drawn as numbered vertical lines. */
  marks?: readonly { readonly at: string }[]
  /** Values that are drawn as horizontal lines. */
  thresholds?: readonly number[]
  label: string
}

const noMarks: readonly { readonly at: string }[] = []
const noThresholds: readonly number[] = []

/** A canvas line chart. The table next to it holds the same numbers for screen readers. */
export function UsageChart({ days, series, label, isHourly = false, isLastPartial = false, ...lines }: Props) {
  const { marks = noMarks, thresholds = noThresholds } = lines
  const box = useRef<HTMLDivElement>(null)
  const scheme = useComputedColorScheme('light')
  const { language } = useLanguage()
  useEffect(() => {
    const target = box.current
    if (!target) return
    const text = scheme === 'dark' ? '#c9c9c9' : '#495057'
    const grid = { stroke: scheme === 'dark' ? '#2c2e33' : '#e6e8eb', width: 1 }
    const date = new Intl.DateTimeFormat(
      language,
      isHourly ? { hour: 'numeric', minute: '2-digit' } : { day: 'numeric', month: 'short', timeZone: 'UTC' },
    )
    const colorOf = (_plot: uPlot, index: number) => series[index - 1]?.color ?? variantColor(index - 1)
    const { fontFamily } = getComputedStyle(target)
    const axis = { stroke: text, grid, ticks: grid, font: `12px ${fontFamily}` }
    const chart = new uPlot(
      {
        width: target.clientWidth,
        height: heightPixels,
        // The numbers are in the table; a live legend would be announced as dashes.
        legend: { live: false, markers: { fill: colorOf, stroke: colorOf } },
        // The last label of the axis is centered below the last point.
        padding: [null, isHourly ? 32 : 24, null, null],
        series: [
          {},
          ...series.map((each, index) => ({
            label: each.label,
            stroke: each.color ?? variantColor(index),
            width: 2,
            points: { show: days.length < 15 },
          })),
        ],
        axes: [
          { ...axis, values: (_plot, stamps) => stamps.map(stamp => date.format(stamp * 1000)) },
          { ...axis, size: 60 },
        ],
        hooks: {
          drawClear: isLastPartial ? [shadeLastDay(scheme)] : [],
          draw: [drawLines({ marks, thresholds, color: scheme === 'dark' ? '#ff8787' : '#c92a2a', fontFamily })],
        },
        scales: { y: { range: (_plot, _min, max) => [0, Math.max(1, max, ...thresholds)] } },
        // Days are UTC; hours are in the local time zone.
        ...(!isHourly && { tzDate: (stamp: number) => uPlot.tzDate(new Date(stamp * 1000), 'Etc/UTC') }),
      },
      [
        days.map(day => Date.parse(isHourly ? day : `${day.slice(0, 10)}T00:00:00Z`) / 1000),
        ...series.map(({ data }) => [...data]),
      ],
      target,
    )
    // Its style sheet names the system's fonts.
    chart.root.style.fontFamily = fontFamily
    const observer = new ResizeObserver(() => chart.setSize({ width: target.clientWidth, height: heightPixels }))
    observer.observe(target)
    return () => {
      observer.disconnect()
      chart.destroy()
    }
  }, [days, series, scheme, isHourly, isLastPartial, language, marks, thresholds])
  return <div ref={box} role="img" aria-label={label} />
}

/** Marks what will still grow. */
const shadeLastDay = (scheme: 'light' | 'dark') => (chart: uPlot) => {
  const stamps = chart.data[0]
  const last = stamps.at(-1)
  const previous = stamps.at(-2)
  if (last === undefined || previous === undefined) return
  const from = chart.valToPos(previous, 'x', true)
  const { left, top, width, height } = chart.bbox
  chart.ctx.fillStyle = scheme === 'dark' ? '#ffffff12' : '#0000000d'
  chart.ctx.fillRect(from, top, left + width - from, height)
}

interface Lines {
  readonly marks: readonly { readonly at: string }[]
  readonly thresholds: readonly number[]
  readonly color: string
  readonly fontFamily: string
}

const labelPixels = 14

/** A mark belongs to the point of its day or hour; of marks that are too close, the first has its number. */
const drawLines =
  ({ marks, thresholds, color, fontFamily }: Lines) =>
  (chart: uPlot) => {
    const { ctx, bbox } = chart
    const stamps = Array.from<number>(chart.data[0])
    const ratio = uPlot.pxRatio
    ctx.save()
    Object.assign(ctx, {
      strokeStyle: color,
      fillStyle: color,
      lineWidth: ratio,
      font: `${11 * ratio}px ${fontFamily}`,
    })
    ctx.setLineDash([4 * ratio, 3 * ratio])
    let labeled = Number.NEGATIVE_INFINITY
    for (const [index, { at }] of marks.entries()) {
      const point = stamps.findLast(stamp => stamp <= Date.parse(at) / 1000)
      if (point === undefined) continue
      const x = Math.round(chart.valToPos(point, 'x', true))
      strokeLine(ctx, [x, bbox.top], [x, bbox.top + bbox.height])
      if (x - labeled < labelPixels * ratio) continue
      labeled = x
      const isAtEnd = x + labelPixels * ratio > bbox.left + bbox.width
      ctx.textAlign = isAtEnd ? 'end' : 'start'
      ctx.fillText(String(index + 1), x + (isAtEnd ? -3 : 3) * ratio, bbox.top + 11 * ratio)
    }
    for (const threshold of thresholds) {
      const y = Math.round(chart.valToPos(threshold, 'y', true))
      strokeLine(ctx, [bbox.left, y], [bbox.left + bbox.width, y])
    }
    ctx.restore()
  }

type Position = readonly [x: number, y: number]

function strokeLine(ctx: CanvasRenderingContext2D, from: Position, to: Position): void {
  ctx.beginPath()
  ctx.moveTo(...from)
  ctx.lineTo(...to)
  ctx.stroke()
}
