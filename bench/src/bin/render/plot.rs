//! A plot of lines with logarithmic axes, as SVG text.

use std::io;

use plotters::coord::Shift;
use plotters::prelude::*;

const SIZE: (u32, u32) = (860, 430);
/// Where the legend begins, from the left.
const LEGEND_LEFT: u32 = 700;
/// Of a line of the legend.
const LEGEND_STEP: i32 = 22;
const MARGIN: u32 = 14;
const LABELS_LEFT: u32 = 66;
const LABELS_BELOW: u32 = 46;
const STROKE: u32 = 2;
const DOT: u32 = 3;
/// Room above and below the lines, as a factor.
const ROOM: f64 = 1.5;

/// Lines over one axis.
#[derive(Debug, Clone)]
pub struct Plot {
    /// The file's name.
    pub file: String,
    /// What it shows; the page prints it, too.
    pub title: String,
    /// What the horizontal axis counts.
    pub across: &'static str,
    /// What the vertical axis counts.
    pub up: String,
    /// What is drawn.
    pub lines: Vec<Line>,
}

/// Points of one colour.
#[derive(Debug, Clone)]
pub struct Line {
    /// As the legend says.
    pub name: String,
    /// Which of the palette's colours.
    pub colour: usize,
    /// Ascending by the first; both are above zero.
    pub points: Vec<(f64, f64)>,
}

const PALETTE: [RGBColor; 8] = [
    RGBColor(200, 40, 40),
    RGBColor(40, 90, 170),
    RGBColor(230, 140, 20),
    RGBColor(40, 140, 80),
    RGBColor(130, 70, 160),
    RGBColor(90, 90, 90),
    RGBColor(20, 160, 180),
    RGBColor(160, 110, 60),
];

impl Plot {
    /// The drawing.
    ///
    /// # Errors
    /// The plotting library refuses it.
    pub fn svg(&self) -> io::Result<String> {
        let mut text = String::new();
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        self.draw(&area).map_err(|error| io::Error::other(format!("{}: {error}", self.file)))?;
        drop(area);
        Ok(text)
    }

    fn draw(&self, area: &DrawingArea<SVGBackend<'_>, Shift>) -> Result<(), Box<dyn std::error::Error + '_>> {
        area.fill(&WHITE)?;
        let (place, legend) = area.split_horizontally(LEGEND_LEFT);
        let points = || self.lines.iter().flat_map(|line| line.points.iter());
        let (left, right) = bounds(points().map(|point| point.0));
        let (low, high) = bounds(points().map(|point| point.1));
        let mut chart = ChartBuilder::on(&place)
            .margin(MARGIN)
            .x_label_area_size(LABELS_BELOW)
            .y_label_area_size(LABELS_LEFT)
            .build_cartesian_2d((left..right).log_scale(), (low / ROOM..high * ROOM).log_scale())?;
        chart
            .configure_mesh()
            .light_line_style(RGBColor(238, 238, 238))
            .x_desc(self.across)
            .y_desc(self.up.as_str())
            .x_label_formatter(&|value| short(*value))
            .y_label_formatter(&|value| short(*value))
            .label_style(("sans-serif", 13))
            .axis_desc_style(("sans-serif", 14))
            .draw()?;
        for (line, at) in self.lines.iter().zip(1..) {
            let colour = PALETTE.get(line.colour % PALETTE.len()).copied().unwrap_or(BLACK);
            let stroke = colour.stroke_width(STROKE);
            chart.draw_series(LineSeries::new(line.points.iter().copied(), stroke))?;
            chart.draw_series(line.points.iter().map(|point| Circle::new(*point, DOT, colour.filled())))?;
            let y = at * LEGEND_STEP;
            legend.draw(&PathElement::new([(0, y), (20, y)], stroke))?;
            legend.draw(&Text::new(line.name.clone(), (27, y - 7), ("sans-serif", 14)))?;
        }
        area.present()?;
        Ok(())
    }
}

fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::MAX, f64::MIN_POSITIVE), |(low, high), value| (low.min(value), high.max(value)))
}

/// A power of ten in few characters: 10k, 5M, 0.01.
fn short(value: f64) -> String {
    for (unit, name) in [(1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")] {
        if value >= unit {
            return format!("{}{name}", trimmed(value / unit));
        }
    }
    trimmed(value)
}

fn trimmed(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
