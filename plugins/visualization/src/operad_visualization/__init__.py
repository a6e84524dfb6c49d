"""Networks as tables and pictures: `operad.visualization`, or `operad.viz` for short."""

from operad_visualization.plot import Plot as Plot
from operad_visualization.plot import plot_network as plot_network
from operad_visualization.summary import print_summary as print_summary
